import type { SkillIntent } from '../contract.ts'

const actions = new Set(
  'create add build make set configure implement define write generate develop update modify change fix debug'.split(
    ' ',
  ),
)
const beginsContext = new Set(['for', 'to', 'in', 'with'])
/** Articles, and prepositions that begin no context. */
const small = new Set(
  'a an the this that my your our its on at of from by into up out over about as'.split(' '),
)

/** What is to be done, to what, and under which circumstances. Words alone: no meaning is guessed. */
export function intentOf(phrase: string): SkillIntent {
  const words = phrase.split(/\s+/).filter((word) => word !== '')
  const plain = words.map((word) => word.toLowerCase().replaceAll(/[^\p{L}\p{N}_-]/gu, ''))
  const found = plain.findIndex((word) => actions.has(word))
  const at = Math.max(found, 0)
  const contextAt = plain.findIndex((word, index) => index > at && beginsContext.has(word))
  const end = contextAt === -1 ? plain.length : contextAt
  return {
    action: plain[at] ?? '',
    object: plain
      .slice(at + 1, end)
      .filter((word) => word !== '' && !small.has(word))
      .slice(0, 2)
      .join(' '),
    context: contextAt === -1 ? '' : words.slice(contextAt).join(' '),
    raw_phrase: phrase,
  }
}
