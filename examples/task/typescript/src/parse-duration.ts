const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 }

/** Milliseconds of a text such as `90s` or `2m`. Throws a RangeError for anything else. */
export function parseDuration(text: string): number {
  const [, amount = '', unit = ''] = /^(\d+)([smh])$/.exec(text) ?? []
  const factor = units[unit]
  if (factor === undefined) throw new RangeError(`no duration: ${text}`)
  return Number(amount) * factor
}
