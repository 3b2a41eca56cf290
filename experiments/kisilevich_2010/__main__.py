from experiments.kisilevich_2010.run import main

main()
