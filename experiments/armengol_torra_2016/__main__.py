from experiments.armengol_torra_2016.run import main

main()
