import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { loadProject } from '../config/load.ts'
import { discoverFiles, type Selection, selectScenarios } from './discover.ts'

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

test('an invalid filter is rejected when it is created', () => {
  expect(() => selectScenarios({ filters: ['/[/'] })).toThrow('--filter /[/')
})

test('a nested key at the start of a line does not make a file a scenario', async () => {
  await using dir = await createFixture({
    'ci.yaml': '# Jobs\n{ jobs: {\ntask: x } }\n',
    'case.yaml': '---\n# A scenario\nname: a\ntask: { prompt: Do it. }\n',
    'flow.yaml': '{ name: b,\ntask: { prompt: Do it. } }\n',
  })
  expect(await discoverFiles(['.'], loadProject(dir.path), dir.path)).toEqual([
    dir.getPath('case.yaml'),
    dir.getPath('flow.yaml'),
  ])
})

test('a scenario that links lead to is found once, under its own path', async () => {
  await using dir = await createFixture({
    'cases/case.yaml': 'name: a\ntask: { prompt: Do it. }\n',
    'all/again.yaml': ({ symlink }) => symlink('../cases/case.yaml'),
    also: ({ symlink }) => symlink('cases'),
  })
  for (const named of [['.'], ['also', 'cases'], ['**/*.yaml'], ['all/again.yaml', 'cases/case.yaml']])
    expect(await discoverFiles(named, loadProject(dir.path), dir.path), named.join(' ')).toEqual([
      dir.getPath('cases/case.yaml'),
    ])
  expect(await discoverFiles(['all'], loadProject(dir.path), dir.path)).toEqual([
    dir.getPath('all/again.yaml'),
  ])
})
