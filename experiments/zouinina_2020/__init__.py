"""Two-level anonymization by maps, densities and labels: Zouinina, Bennani, Rogovschi & Lyhyaoui (2020), run again."""
