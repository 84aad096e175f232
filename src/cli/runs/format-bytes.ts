/** `0 B`, `512 B`, `4.0 KB`, `1.3 GB`: units of 1,000. */
export function formatBytes(bytes: number): string {
  let amount = bytes
  for (const unit of ['B', 'KB', 'MB', 'GB', 'TB']) {
    // Rounded up to a thousand it would be one of the next unit.
    if (amount < 999.95 || unit === 'TB') return unit === 'B' ? `${amount} B` : `${amount.toFixed(1)} ${unit}`
    amount /= 1_000
  }
  return `${bytes} B`
}
