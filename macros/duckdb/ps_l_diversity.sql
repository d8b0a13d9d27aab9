-- The groups of a table and how varied each one's sensitive values are, least varied first. NULL counts as a value.
-- from ps_l_diversity('adult', ['age', 'sex'], 'occupation')
create or replace macro ps_l_diversity(relation, quasi, sensitive) as table
    with histogram as (
        select
            columns(ps_known(quasi, (*))),
            columns(ps_known([sensitive], (*))) as ps_l_diversity_value,
            count(*) as ps_l_diversity_n
        from query_table(relation)
        group by all
    )
    select
        columns(quasi),
        cast(sum(ps_l_diversity_n) as bigint) as n_rows,
        count(*) as n_values,
        max(ps_l_diversity_n) / sum(ps_l_diversity_n) as largest_share,
        exp(-sum(ps_l_diversity_n * ln(ps_l_diversity_n)) / sum(ps_l_diversity_n) + ln(sum(ps_l_diversity_n))) as entropy_l
    from histogram
    group by all
    order by n_values, largest_share desc;
