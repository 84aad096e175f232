const units = ['', 'k', 'm', 'g', 't']

/** Bytes of `256m`, `8g`, `1.5g`, `512k` or a plain number; units are powers of 1,024. NaN for anything else. */
export function parseSize(size: string | number): number {
  if (typeof size === 'number') return size
  const match = /^(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?$/i.exec(size)
  if (match === null) return Number.NaN
  const power = units.indexOf((match[2] ?? '').toLowerCase())
  return Math.round(Number(match[1]) * 1024 ** power)
}

/** The reverse: `8g`, `1.5g`, `256m`, or bytes where no unit fits well. */
export function formatSize(bytes: number): string {
  const power = units.findLastIndex((_, index) => bytes >= 1024 ** index)
  return power < 1 ? String(bytes) : `${Number((bytes / 1024 ** power).toFixed(2))}${units[power]}`
}
