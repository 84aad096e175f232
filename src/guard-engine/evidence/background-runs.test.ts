import { expect, test } from 'vitest'
import { declaredAs, guardStory } from '../../../test/support/guard-story.ts'
import { recordEvidence } from '../../rules/record-evidence.ts'

test.each([
  ['npm test', true],
  ['npm run build && npm test', true],
  ['cd . && npm run lint && npm run build && npm test', true],
  ['test -f none && npm test', false],
  ['npm run deploy && npm test', false],
  ['npm run build || npm test', false],
  ['npm run build; exit 0; npm test', false],
])('%j in the background: the guard may run npm test itself: %s', (command, mayRun) => {
  const story = guardStory([recordEvidence])
  story.start([declaredAs('npm test')])
  story.run(command, {}, { background: true })
  const { unclear = {}, rejected } = story.history.evidence
  expect(rejected['npm test']).toBeDefined()
  expect(unclear['npm test'] !== undefined).toBe(mayRun)
})
