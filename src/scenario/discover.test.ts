import { expect, test } from 'vitest'
import { type Selection, selectScenarios } from './discover.ts'

const scenario = { name: 'add/remove notes', tags: ['write', 'smoke'], tier: 1 }

test.each<[Selection, boolean]>([
  [{}, true],
  [{ filters: ['notes'] }, true],
  [{ filters: ['NOTES'] }, true],
  [{ filters: ['add*'] }, true],
  [{ filters: ['*notes'] }, true],
  [{ filters: ['notes*'] }, false],
  [{ filters: ['/^add/'] }, true],
  [{ filters: ['/^ADD/'] }, false],
  [{ filters: ['/^ADD/i'] }, true],
  [{ filters: ['nothing', 'add*'] }, true],
  [{ tags: ['smoke', 'other'] }, true],
  [{ tags: ['smoke', 'other'], allTags: true }, false],
  [{ tags: ['smoke', 'write'], allTags: true }, true],
  [{ tags: ['Smoke'] }, false],
  [{ tier: 0 }, false],
  [{ tier: 1 }, true],
  [{ tier: 3, tags: ['other'] }, false],
])('%j keeps the scenario: %s', (selection, kept) => {
  expect(selectScenarios(selection)(scenario)).toBe(kept)
})

test('a filter that is no pattern is refused when it is made, not when it is used', () => {
  expect(() => selectScenarios({ filters: ['/[/'] })).toThrow('--filter /[/')
})
