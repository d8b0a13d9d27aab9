-- The groups of a table and how many rows each holds, smallest first: k is the first n_rows.
-- Groups are what a reader sees, shown as text.
-- from ps_k_anonymity('adult', ['age', 'sex'])
create or replace macro ps_k_anonymity(relation, quasi) as table
    select ps_shown(columns(ps_known(quasi, (*)))), count(*) as n_rows
    from query_table(relation)
    group by all
    order by count(*);
