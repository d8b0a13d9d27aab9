{{ config(materialized='table', schema='restricted') }}
{{ privacy_sql.generalise(
    ref('patients'),
    quasi={'Age': {'intervals': [10, 20]}, 'Zip code': {'mask': [2, 0]}},
    levels={'Age': var('level', 2), 'Zip code': 1},
    sensitive='illness') }}
