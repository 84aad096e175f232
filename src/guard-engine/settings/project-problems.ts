import { stateDirProblem } from '../views/state-dir-problem.ts'
import type { CheckedValues, ValueProblem } from './check-values.ts'

/** What a file that comes with a project must not say: it is not to make the machine of whoever opens it write elsewhere. */
export function projectProblems(values: CheckedValues['values']): readonly ValueProblem[] {
  const dir = values['state.dir']
  const root = values['boundary.root']
  const also = values['boundary.also']
  const isPersons = 'is the person’s to set: it counts in the environment and in the guard’s home only'
  return [
    ...problem('state.dir', typeof dir === 'string' ? stateDirProblem(dir) : null),
    ...problem('boundary.root', root === undefined || root === '' ? null : isPersons),
    ...problem('boundary.also', Array.isArray(also) && also.length > 0 ? isPersons : null),
  ]
}

function problem(key: string, why: string | null): readonly ValueProblem[] {
  return why === null ? [] : [{ path: key.split('.'), at: 'value', text: `${key}: ${why}` }]
}
