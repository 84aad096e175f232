import { expect, test } from 'vitest'
import { GantryError } from '../core/error.ts'
import { problemOf } from './answer.ts'

test.each([
  ['Commit it: gantry task commit task_1', 'Commit it: POST /v1/tasks/task_1/commit'],
  ['See it with gantry task show task_1', 'See it with GET /v1/tasks/task_1'],
  ['By hand, with gantry task show task_1 --diff', 'By hand, with GET /v1/tasks/task_1/diff'],
  [
    'Look at it, then accept it with gantry task accept task_1',
    'Look at it, then accept it with gantry task accept task_1',
  ],
])(
  'what a state does not allow is 409, with requests instead of commands where there are: %s',
  (hint, said) => {
    expect(problemOf(new GantryError('WRONG_STATE', 'no', { hint }))).toMatchObject({
      ...{ status: 409, code: 'wrong_state', hint: said },
    })
  },
)
