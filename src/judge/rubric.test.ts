import { createFixture } from 'fs-fixture'
import { expect, onTestFinished, test } from 'vitest'
import { readRubric } from './rubric.ts'

const read = async (rubric: string) => {
  const fixture = await createFixture({ 'rubric.yaml': rubric })
  onTestFinished(() => fixture.rm())
  return readRubric(fixture.getPath('rubric.yaml'))
}

const criterion = (id: string, weight: number) => `  - {id: ${id}, weight: ${weight}, description: d}\n`

test('a rubric is read whole', async () => {
  const rubric = await read(`
criteria:
  - id: structure
    weight: 0.6
    description: Notes are short and linked.
  - {id: coverage, weight: 0.4, description: Everything is there.}
output: {format: json, require_fields: [issues, reasoning]}
`)
  expect(rubric.criteria.map(({ id, weight }) => [id, weight])).toEqual([
    ['structure', 0.6],
    ['coverage', 0.4],
  ])
  expect(rubric.output).toEqual({ format: 'json', require_fields: ['issues', 'reasoning'] })
})

test('weights may miss 1 by a hundredth', async () => {
  const thirds = `criteria:\n${criterion('a', 0.33)}${criterion('b', 0.33)}${criterion('c', 0.33)}`
  expect((await read(thirds)).criteria).toHaveLength(3)
})

test.each([
  [
    'weights that do not sum to 1',
    `criteria:\n${criterion('a', 0.5)}${criterion('b', 0.4)}`,
    'the weights sum to 0.9',
  ],
  ['two criteria of one name', `criteria:\n${criterion('a', 0.5)}${criterion('a', 0.5)}`, "two criteria 'a'"],
  ['no criteria', 'criteria: []', 'criteria'],
  ['an unknown key', `criterias:\n${criterion('a', 1)}`, 'criteria'],
  ['a negative weight', `criteria:\n${criterion('a', -1)}${criterion('b', 2)}`, 'weight'],
  ['a name that cannot be a key', `criteria:\n${criterion('__proto__', 1)}`, 'criteria[0].id'],
])('%s is refused with its position', async (_, text, message) => {
  await expect(read(text)).rejects.toMatchObject({
    code: 'INVALID_FILE',
    message: expect.stringContaining(message),
  })
  await expect(read(text)).rejects.toThrow(/rubric\.yaml:\d+:\d+/)
})
