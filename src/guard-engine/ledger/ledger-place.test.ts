import { expect, test } from 'vitest'
import { guardHome } from './ledger-place.ts'

test("the guard's home is what its variable says, else below the state directory of the user", () => {
  expect(guardHome({ GANTRY_GUARD_HOME: '/g', XDG_STATE_HOME: '/s', HOME: '/h' })).toBe('/g')
  expect(guardHome({ XDG_STATE_HOME: '/s', HOME: '/h' })).toBe('/s/gantry/guard')
  expect(guardHome({ HOME: '/h' })).toBe('/h/.local/state/gantry/guard')
})

test('a relative value would make it depend on where the agent stands, and is passed over', () => {
  expect(guardHome({ GANTRY_GUARD_HOME: 'g', XDG_STATE_HOME: 's', HOME: '/h' })).toBe(
    '/h/.local/state/gantry/guard',
  )
})
