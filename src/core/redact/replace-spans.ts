export const marker = '[REDACTED]'

export interface TextSpan {
  readonly start: number
  readonly end: number
}

/** The spans to replace: in order, with overlapping and adjacent ones merged. */
export function findSpans(text: string, finders: readonly Finder[]): TextSpan[] {
  const spans: TextSpan[] = []
  for (const find of finders) find(text, (start, end) => spans.push({ start, end }))
  return spans.length > 1 ? joined(spans) : spans
}

/** Replaces each span by one marker. Existing markers are included, so none is cut or doubled. */
export function replaceSpans(text: string, spans: readonly TextSpan[]): string {
  if (spans.length === 0) return text
  let result = ''
  let done = 0
  for (const { start, end } of joined([...spans, ...markersIn(text)])) {
    result += text.slice(done, start) + marker
    done = end
  }
  return result + text.slice(done)
}

function joined(spans: readonly TextSpan[]): TextSpan[] {
  const result: TextSpan[] = []
  for (const span of spans.toSorted((a, b) => a.start - b.start)) {
    const last = result.at(-1)
    if (last === undefined || span.start > last.end) result.push(span)
    else if (span.end > last.end) result[result.length - 1] = { start: last.start, end: span.end }
  }
  return result
}

function markersIn(text: string): TextSpan[] {
  const spans: TextSpan[] = []
  for (let at = text.indexOf(marker); at !== -1; at = text.indexOf(marker, at + marker.length))
    spans.push({ start: at, end: at + marker.length })
  return spans
}

/** Reports the start and end of every match to hide. Must run in linear time. */
export type Finder = (text: string, found: Found) => void

export type Found = (start: number, end: number) => void
