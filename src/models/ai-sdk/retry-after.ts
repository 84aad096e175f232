interface Refusal {
  readonly responseHeaders?: Readonly<Record<string, string>> | undefined
  readonly responseBody?: string | undefined
}

/**
 * The wait that the server requests: `retry-after-ms`, `retry-after` in seconds or as a date, or the `retryDelay` of
 * Google's error body. null when there is none or it is invalid.
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

/** Accepts only the HTTP date format: `Date.parse` accepts nearly everything. */
function untilDate(text: string | undefined, nowMs: number): number | null {
  const isDate = /^\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text ?? '')
  const atMs = isDate ? Date.parse(text ?? '') : Number.NaN
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs)
}
