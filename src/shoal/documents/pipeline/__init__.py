"""The flow of a case: look through originals, plan what goes, write what is left, and say in numbers what was done. One record per document, computed once."""
