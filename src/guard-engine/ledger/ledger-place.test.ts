import { expect, test } from 'vitest'
import { guardHome } from './ledger-place.ts'

test("the guard's home is set by its variable, else it is below the user's state directory", () => {
  expect(guardHome({ GANTRY_GUARD_HOME: '/g', XDG_STATE_HOME: '/s', HOME: '/h' })).toBe('/g')
  expect(guardHome({ XDG_STATE_HOME: '/s', HOME: '/h' })).toBe('/s/gantry/guard')
  expect(guardHome({ HOME: '/h' })).toBe('/h/.local/state/gantry/guard')
})

test('a relative value would depend on the working directory and is ignored', () => {
  expect(guardHome({ GANTRY_GUARD_HOME: 'g', XDG_STATE_HOME: 's', HOME: '/h' })).toBe(
    '/h/.local/state/gantry/guard',
  )
})
