import fc from 'fast-check'
import type { Block, Turn } from '../contract.ts'

/** A turn with every kind of content. */
export const everything: Turn = {
  blocks: [
    { kind: 'thinking', text: 'Let me see.' },
    { kind: 'text', text: 'I look.' },
    { kind: 'tool_call', id: 'call_1', name: 'shell', input: { command: 'ls' } },
    { kind: 'tool_call', id: 'call_2', name: 'read', input: { path: 'a' } },
  ],
  stop: 'tools',
  usage: { input: 10, output: 20, cacheRead: 30, cacheWrite: 40, thinking: 5 },
}

export function anyTurn(): fc.Arbitrary<Turn> {
  const input = fc
    .oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.record({ path: anyText }), anyText)
    .map((value) => JSON.parse(JSON.stringify(value)))
  const block: fc.Arbitrary<Block> = fc.oneof(
    fc.record({ kind: fc.constant('text' as const), text: anyText }),
    fc.record({ kind: fc.constant('thinking' as const), text: anyText }),
    fc.record({
      kind: fc.constant('tool_call' as const),
      id: fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/),
      name: fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/),
      input,
    }),
  )
  const count = fc.oneof(fc.constant(0), fc.nat(2_000_000))
  const usage = fc
    .record({
      input: count,
      output: count,
      cacheRead: count,
      cacheWrite: count,
      share: fc.option(fc.nat(100)),
    })
    .map(({ share, ...counts }) => ({
      ...counts,
      ...(share !== null && { thinking: Math.floor((counts.output * share) / 100) }),
    }))
  return fc.record(
    {
      blocks: fc.uniqueArray(block, {
        maxLength: 6,
        selector: (one) => (one.kind === 'tool_call' ? one.id : {}),
      }),
      stop: fc.constantFrom('end', 'tools', 'length', 'refusal'),
      usage,
      model: fc.string({ minLength: 1 }),
    },
    { requiredKeys: ['blocks', 'stop', 'usage'] },
  )
}

const anyCharacter = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((point) => String.fromCodePoint(point))

/** Normal text, and difficult text: lone surrogates, line breaks, quotes, protocol keywords. */
const anyText = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 300 }),
  fc
    .array(
      fc.constantFrom(
        'word ',
        '😀',
        '\n',
        '\r',
        '\\',
        '"',
        '\ud800',
        '\udc00',
        'data: [DONE]',
        '\u2028',
        '\u0000',
      ),
    )
    .map((pieces) => pieces.join('')),
  fc.string({ unit: fc.constantFrom('a', '😀', ' '), minLength: 200, maxLength: 900 }),
)

/** Real JSON in which the value of one key is replaced, wherever it occurs. */
export function twisted(sample: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const value = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom(null, -1, 1e308, '1', 'x', [], {}, [null], [[]], [{}]),
  )
  return fc.tuple(sample, fc.nat(1_000), value).map(([json, pick, other]) => {
    const keys = [...new Set([...json.matchAll(/"([a-zA-Z_]+)":/g)].map((found) => found[1] ?? ''))]
    const twistedKey = keys[pick % keys.length]
    // Replaced while reading, not while writing: writing would recurse into the new value, endlessly if it contains the
    // key.
    return JSON.stringify(JSON.parse(json, (key, old) => (key === twistedKey ? other : old)))
  })
}

/** Deeper than recursion can go. */
export function deep(): unknown {
  let value: unknown = 'x'
  for (let depth = 0; depth < 50_000; depth += 1)
    value = depth % 2 === 0 ? [value] : { text: value, parts: value, content: value }
  return value
}
