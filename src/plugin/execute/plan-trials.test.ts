import { expect, test } from 'vitest'
import { scenarioOf } from '../../../test/support/execute-lab.ts'
import { isSafeName } from '../../store/run-paths.ts'
import { pluginConfigSchema } from '../config/keys/schema.ts'
import { pathSegment, planTrials } from './plan-trials.ts'

const skill = { component_type: 'skill', component_ref: 'greet' } as const
const config = pluginConfigSchema.parse({ execution: { num_reps: 2 } })

test('every scenario is tried in every arm as often as it should, a case as often as it says', () => {
  const own = scenarioOf('own', 'p', skill, { case: { dir: '/', graders: [], runs: 3 } })
  const trials = planTrials([scenarioOf('one', 'p', skill), own], config, ['without', 'alone'])
  expect(trials.map(({ id }) => id)).toEqual([
    'one.without-1',
    'one.without-2',
    'one.alone-1',
    'one.alone-2',
    'own.without-1',
    'own.without-2',
    'own.without-3',
    'own.alone-1',
    'own.alone-2',
    'own.alone-3',
  ])
})

test('a trial’s id is a file name whatever its scenario is called, and no two are the same', () => {
  const names = ['plain', '.hidden', '-dash', 'a/b', 'a b', 'x'.repeat(300), `${'x'.repeat(299)}y`, 'ü', '..']
  const ids = planTrials(
    names.map((name) => scenarioOf(name, 'p', skill)),
    pluginConfigSchema.parse({}),
    ['alone'],
  ).map(({ id }) => id)
  expect(ids.filter((id) => !isSafeName(id))).toEqual([])
  expect(new Set(ids).size).toBe(names.length)
  expect(pathSegment('plain')).toBe('plain')
})
