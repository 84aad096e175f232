import { parseJson } from '../core/json-fields.ts'

/** How many starts of broken JSON are tried before giving up: each may scan the whole answer. */
const maxBroken = 50

/**
 * Every JSON value in a model's answer, likeliest first: the whole answer, then fenced blocks, then objects or arrays
 * in the prose, the last first. Models reason before they answer, so earlier values are often quotations.
 */
export function* extractJson(answer: string): Generator<unknown> {
  const candidates = [answer, ...fencedBlocks(answer).toReversed(), ...balancedParts(answer).toReversed()]
  for (const candidate of candidates) {
    const parsed = parseJson(candidate)
    if (parsed !== undefined) yield parsed
  }
}

function fencedBlocks(answer: string): string[] {
  const blocks: string[] = []
  const parts = answer.split(/^[ \t]*```/m)
  for (let index = 1; index < parts.length; index += 2)
    blocks.push((parts[index] ?? '').replace(/^[A-Za-z0-9]*/, ''))
  return blocks
}

function balancedParts(answer: string): string[] {
  const parts: string[] = []
  let broken = 0
  for (let at = nextOpening(answer, 0); at !== -1 && broken < maxBroken; ) {
    const end = balancedEnd(answer, at)
    const part = end === -1 ? '' : answer.slice(at, end)
    const fits = part !== '' && parseJson(part) !== undefined
    if (fits) parts.push(part)
    else broken += 1
    at = nextOpening(answer, fits ? end : at + 1)
  }
  return parts
}

function nextOpening(answer: string, from: number): number {
  const opening = /[{[]/g
  opening.lastIndex = from
  return opening.exec(answer)?.index ?? -1
}

/** The index after the bracket that closes the one at `start`, ignoring brackets in strings; -1 when it is not closed. */
function balancedEnd(answer: string, start: number): number {
  let depth = 0
  let inString = false
  for (let at = start; at < answer.length; at += 1) {
    const char = answer[at]
    if (inString) {
      if (char === '\\') at += 1
      else if (char === '"') inString = false
    } else if (char === '"') inString = true
    else if (char === '{' || char === '[') depth += 1
    else if (char === '}' || char === ']') {
      depth -= 1
      if (depth === 0) return at + 1
    }
  }
  return -1
}
