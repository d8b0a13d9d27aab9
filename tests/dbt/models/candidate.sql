{{ config(materialized='table', schema='restricted') }}
select
    {{ privacy_sql.generalise('Age', {'intervals': [10, 20]}, var('level', 2)) }} as age,
    {{ privacy_sql.generalise('Zip code', {'mask': [2, 0]}, 1) }} as zip,
    {{ adapter.quote('illness') }} as illness
from {{ ref('patients') }}
