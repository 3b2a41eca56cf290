from experiments.abril_2014_linkage.run import main

main()
