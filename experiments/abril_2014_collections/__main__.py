from experiments.abril_2014_collections.run import main

main()
