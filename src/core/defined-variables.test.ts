import { expect, test } from 'vitest'
import { definedVariables } from './defined-variables.ts'

test('names without a value are left out, empty values are kept', () => {
  expect(definedVariables({ PATH: '/bin', NOTHING: undefined, EMPTY: '' })).toEqual({
    PATH: '/bin',
    EMPTY: '',
  })
})
