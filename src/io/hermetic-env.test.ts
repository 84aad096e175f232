import { expect, test } from 'vitest'
import { hermeticEnv } from './hermetic-env.ts'

const places = { home: '/h', tmp: '/t', platform: 'linux' } as const

test('only essential variables of the host are kept', () => {
  const host = {
    PATH: '/bin',
    LANG: 'de_DE.UTF-8',
    LC_ALL: 'C',
    TZ: 'UTC',
    TERM: 'xterm',
    HOME: '/home/me',
    TMPDIR: '/somewhere',
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    API_KEY: 'secret',
    EDITOR: undefined,
    XDG_CONFIG_HOME: '/home/me/.config',
  }
  expect(hermeticEnv({ host, ...places })).toEqual({
    PATH: '/bin',
    LANG: 'de_DE.UTF-8',
    LC_ALL: 'C',
    TZ: 'UTC',
    TERM: 'xterm',
    HOME: '/h',
    TMPDIR: '/t',
    XDG_CONFIG_HOME: '/h/.config',
    XDG_DATA_HOME: '/h/.local/share',
    XDG_STATE_HOME: '/h/.local/state',
    XDG_CACHE_HOME: '/h/.cache',
  })
})

test('inherited names come from the host where it has them, and extra wins over all', () => {
  const host = { PATH: '/bin', API_KEY: 'secret', HOME: '/home/me', OTHER: 'x' }
  const env = hermeticEnv({
    host,
    ...places,
    inherit: ['API_KEY', 'MISSING', 'OTHER', 'toString'],
    extra: { OTHER: 'mine', PATH: '/mine' },
  })
  expect(env).toMatchObject({ API_KEY: 'secret', OTHER: 'mine', PATH: '/mine', HOME: '/h' })
  expect(env).not.toHaveProperty('MISSING')
  expect(Object.keys(env)).not.toContain('toString')
})

test('on Windows the system directories are kept, regardless of case', () => {
  const host = { Path: 'C:\\bin', SYSTEMROOT: 'C:\\Windows', PATHEXT: '.EXE', CI: '1' }
  const env = hermeticEnv({ host, home: 'H', tmp: 'T', platform: 'win32' })
  expect(env).toMatchObject({
    Path: 'C:\\bin',
    SYSTEMROOT: 'C:\\Windows',
    PATHEXT: '.EXE',
    USERPROFILE: 'H',
    TEMP: 'T',
  })
  expect(env).not.toHaveProperty('CI')
})
