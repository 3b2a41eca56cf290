from experiments.zouinina_2020.run import main

main()
