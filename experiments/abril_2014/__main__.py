from experiments.abril_2014.run import main

main()
