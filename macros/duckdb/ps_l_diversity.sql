-- The groups of a table and how varied each one's sensitive values are, least varied first. NULL counts as a value.
-- Groups are what a reader sees, shown as text. The user's columns may have any name, so none is used here.
-- from ps_l_diversity('adult', ['age', 'sex'], 'occupation')
create or replace macro ps_l_diversity(relation, quasi, sensitive) as table
    select
        ps_shown(columns(ps_known(quasi, (*)))),
        count(*) as n_rows,
        len(ps_counts(columns(ps_known([sensitive], (*))))) as n_values,
        list_max(ps_counts(columns(ps_known([sensitive], (*))))) / count(*) as largest_share,
        exp(
            ln(count(*))
            - list_sum(list_transform(ps_counts(columns(ps_known([sensitive], (*)))), lambda n: n * ln(n))) / count(*)
        ) as entropy_l
    from query_table(relation)
    group by all
    order by
        len(ps_counts(columns(ps_known([sensitive], (*))))),
        list_max(ps_counts(columns(ps_known([sensitive], (*))))) / count(*) desc;
