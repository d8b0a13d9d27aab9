{{ config(materialized='table') }}
select
    age,
    zip,
    illness
from {{ ref('candidate') }}
