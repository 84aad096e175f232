interface Refusal {
  readonly responseHeaders?: Readonly<Record<string, string>> | undefined
  readonly responseBody?: string | undefined
}

/**
 * How long the other side asks to wait: `retry-after-ms`, `retry-after` in seconds or as a date, or the `retryDelay` of
 * Google's error body. null when it does not say, or says nonsense.
 */
export function retryAfterMs(
  { responseHeaders = {}, responseBody = '' }: Refusal,
  nowMs: number,
): number | null {
  return (
    countOf(responseHeaders['retry-after-ms'], 1) ??
    countOf(responseHeaders['retry-after'], 1_000) ??
    untilDate(responseHeaders['retry-after'], nowMs) ??
    countOf(/"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(responseBody)?.[1], 1_000)
  )
}

function countOf(text: string | undefined, unitMs: number): number | null {
  if (text === undefined || !/^\s*\d+(?:\.\d+)?\s*$/.test(text)) return null
  return Math.ceil(Number(text) * unitMs)
}

/** Only the one form HTTP has: `Date.parse` makes something of nearly everything. */
function untilDate(text: string | undefined, nowMs: number): number | null {
  const isDate = /^\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text ?? '')
  const atMs = isDate ? Date.parse(text ?? '') : Number.NaN
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs)
}
