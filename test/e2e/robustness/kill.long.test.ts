import { test } from 'vitest'
import { playKills } from './kill-story.ts'

test('kill -9 at any instant loses nothing finished and starts no finished agent again', () =>
  playKills({ trials: 40, kills: 15, enough: 8 }))
