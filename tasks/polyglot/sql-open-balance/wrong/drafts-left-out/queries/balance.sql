WITH RECURSIVE
entries (customer_id, month, charged, paid) AS (
    SELECT customer_id, substr(day, 1, 7), coalesce(amount, 0), 0
    FROM invoices
    WHERE state = 'sent'
    UNION ALL
    SELECT invoices.customer_id, substr(payments.day, 1, 7), 0, coalesce(payments.amount, 0)
    FROM payments JOIN invoices ON invoices.id = payments.invoice_id
),
months (customer_id, month) AS (
    SELECT customer_id, min(month)
    FROM entries
    GROUP BY customer_id
    UNION ALL
    SELECT customer_id, strftime('%Y-%m', month || '-01', '+1 month')
    FROM months
    WHERE month < (SELECT max(month) FROM entries)
),
sums (customer_id, month, charged, paid) AS (
    SELECT customer_id, month, sum(charged), sum(paid)
    FROM entries
    GROUP BY customer_id, month
)
SELECT
    customers.name AS customer,
    months.month AS month,
    coalesce(sums.charged, 0) AS charged,
    coalesce(sums.paid, 0) AS paid,
    sum(coalesce(sums.charged, 0) - coalesce(sums.paid, 0))
        OVER (PARTITION BY months.customer_id ORDER BY months.month) AS balance
FROM months
JOIN customers ON customers.id = months.customer_id
LEFT JOIN sums ON sums.customer_id = months.customer_id AND sums.month = months.month
ORDER BY customers.name, customers.id, months.month;
