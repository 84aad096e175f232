import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { analyzePlugin } from './analyze-plugin.ts'

const many = (count: number, text: string | ((index: number) => string)) =>
  Array.from({ length: count }, (_, index) => (typeof text === 'string' ? text : text(index))).join('')

const mostBytes = 1_000_000
const frontmatter = (yaml: string) => `---\n${yaml}\n---\n`

/** Files of the maximum size on which a careless expression or loop would take hours. */
const hostile: Readonly<Record<string, string>> = {
  'blanks in a description': frontmatter(`description: "a${' '.repeat(15_000)}b"`),
  'commas between quotes': frontmatter(`description: 'says "a"${','.repeat(15_000)}x"b"'`),
  'keys without end': frontmatter(many(1_500, (index) => `k${index % 7}: a: b\n`)),
  'lines without keys': frontmatter(`a: b: c\n${'- x\n'.repeat(4_000)}`),
  'brackets without end': frontmatter(`description: ${'['.repeat(15_000)}`),
  'frontmatter without end': frontmatter(`description: a\n${'x: y\n'.repeat(190_000)}`),
  'examples without end': `${'<example>\nuser: "'.repeat(50_000)}`,
  'one example': `<example>context:${' a'.repeat(400_000)}`,
  'quotes without end': frontmatter(`description: |\n  ${`"a' `.repeat(3_900)}`),
  'tools without end': frontmatter(`allowed-tools: ${many(2_500, (index) => `T${index},`)}`),
  'dashes without end': '---\n'.repeat(mostBytes / 4),
}

test.each(Object.entries(hostile))('%s', async (_, text) => {
  await using fixture = await createFixture({
    '.claude-plugin/plugin.json': '{"name":"demo"}',
    'skills/a/SKILL.md': text,
    'agents/a.md': text,
    'commands/a.md': text,
  })
  const outcome = await analyzePlugin({ path: fixture.path, cwd: fixture.path })
  expect(outcome).toMatchObject({ kind: 'analysed', analysis: { plugin_name: 'demo' } })
})

const group = '{"matcher":"(a+)+$","hooks":[{"type":"prompt","prompt":"x"}]}'
const hooks: Readonly<Record<string, string>> = {
  'groups without end': `{"hooks":{"Stop":[${many(15_000, (index) => (index === 0 ? group : `,\n${group}`))}]}}`,
  'events without end': `{"hooks":{"x":0${many(20_000, (index) => `,"e${index}":[]`)}}}`,
  'names without end': `{"hooks":{"PreToolUse":[{"matcher":"${many(50_000, (index) => `T${index}|`)}","hooks":[{"type":"command","command":"x"}]}]}}`,
  'a pattern without end': `{"hooks":{"PreToolUse":[{"matcher":"${'(a|b)*'.repeat(30_000)}","hooks":[{"type":"command","command":"x"}]}]}}`,
  'a prompt without end': `{"hooks":{"Stop":[{"hooks":[{"type":"prompt","prompt":"${'word '.repeat(180_000)}"}]}]}}`,
  'depth without end': `{"hooks":${'['.repeat(400_000)}`,
}

test.each(Object.entries(hooks))('hooks: %s', async (_, text) => {
  await using fixture = await createFixture({
    '.claude-plugin/plugin.json': '{"name":"demo"}',
    'hooks/hooks.json': text,
    '.mcp.json': text,
  })
  const outcome = await analyzePlugin({ path: fixture.path, cwd: fixture.path })
  expect(outcome).toMatchObject({ kind: 'analysed', analysis: { plugin_name: 'demo' } })
})
