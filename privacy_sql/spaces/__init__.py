"""What could be published: lattices of levels, partitions, sets of marginals. Pure: no SQL, no tables."""
