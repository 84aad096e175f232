import { expect, test } from 'vitest'
import { parseSource } from '../io/yaml-source.ts'
import { plainYaml } from './plain-yaml.ts'

/** What the whole parser makes of it; a text it refuses has no value. */
function whole(text: string): unknown {
  const source = parseSource(text, 'a.yaml')
  return source.kind === 'parsed' ? source.value : null
}

const plain = [
  'a: 1',
  'a: text with words',
  'a: "quoted # text: yes"',
  "a: 'quoted'",
  'a: b # comment',
  '# comment\n\na:\n  b: c\n  # in between\n  d: e\n',
  'a:\n  - b\n  - c\n',
  'a:\n- b\n- c\nd: e\n',
  'a:\n  - name: x\n    command: z w\n  - name: "q"\n    command: ./run --all\nb: 2\n',
  'a:\n  -   name: x\n      command: z\n',
  'a: [1, b, "c d"]',
  'a: [{ name: x, command: "true" }, { name: z, command: npm test }]\n',
  'a: { b: [1, 2], c: { d: e } } # end',
  'a: http://host:80/x?y=z&b',
  'a: 1.50\nb: true\nc: false\nd: 0\n',
  'a: ./x && (y || $Z) ; echo "q" \'r\' * | tr a b',
  'a: x:y',
  'a:   b   c   ',
]

test.each(plain)('%j is read as the whole parser reads it', (text) => {
  expect(plainYaml(text)).toEqual(whole(text))
  expect(plainYaml(text)).not.toBeNull()
})

const others = [
  '',
  'a',
  'a:',
  'a: &x b',
  'a: *x',
  'a: !t b',
  'a: |\n  b\n',
  'a: >\n  b\n',
  'a: b\n  c\n',
  'a: "b\n  c"\n',
  'a: "b\\n"',
  "a: 'it''s'",
  'a: b: c',
  'a: b\na: c\n',
  'a: [1, 2',
  'a: {}',
  'a: []',
  'a: yes\nno: b',
  'a: null',
  'a: ~',
  'a: 0x1f',
  'a: 0o7',
  'a: 1e3',
  'a: -1',
  'a: .inf',
  'a: 08',
  'a: ä',
  'a:\tb',
  'a: b\r\n',
  '---\na: b\n',
  '%YAML 1.2\n---\na: b\n',
  'a:\n    b: c\n  d: e\n',
  '  a: b\nc: d\n',
  'a:\n  - b\n c: d\n',
  '- - a',
  'a: "b" c',
  'a: {b: c}d',
  'a: [b]: c',
  "a: {b: it's}",
  'a: {b: c:}',
  '__proto__: a',
  `a: ${'['.repeat(10_000)}`,
  `a: ${'x'.repeat(30_000)}`,
]

test.each(others)('%j is left to the whole parser', (text) => {
  expect(plainYaml(text)).toBeNull()
})
