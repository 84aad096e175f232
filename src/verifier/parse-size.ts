/** Bytes of `256m`, `8g`, `1.5g`, `512k` or a plain number; units are powers of 1,024. NaN for anything else. */
export function parseSize(size: string | number): number {
  if (typeof size === 'number') return size
  const match = /^(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?$/i.exec(size)
  if (match === null) return Number.NaN
  const power = ['', 'k', 'm', 'g', 't'].indexOf((match[2] ?? '').toLowerCase())
  return Math.round(Number(match[1]) * 1024 ** power)
}

/** The same spelling back: `8g`, `1.5g`, `256m`, or bytes where no unit fits well. */
export function formatSize(bytes: number): string {
  for (const [unit, power] of [
    ['t', 4],
    ['g', 3],
    ['m', 2],
    ['k', 1],
  ] as const) {
    const amount = bytes / 1024 ** power
    if (amount >= 1) return `${Number(amount.toFixed(2))}${unit}`
  }
  return String(bytes)
}
