import { test } from 'vitest'
import { playKills } from './kill-story.ts'

test('kill -9 at any instant loses nothing finished and starts no finished agent again', () =>
  playKills({ trials: 12, kills: 4, enough: 3 }))
