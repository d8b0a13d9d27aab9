{{ config(materialized='table') }}
select {{ privacy_sql.columns(['Age', 'Zip code', 'illness']) }}
from {{ ref('candidate') }}
