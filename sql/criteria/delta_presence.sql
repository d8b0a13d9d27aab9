-- How many groups share their counts in the table and in the population, those outside every group included.
-- in: population (g, n_people, n_population)
-- out: n_people, n_population, n_groups, g (one such group)    grain: pair of sizes (and group, by_group)
{{ privacy_sql.population_sizes(population, by_group) }}
