from experiments.abril_2014_documents.run import main

main()
