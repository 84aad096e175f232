import { test } from 'vitest'
import { playKilledInstalls } from './kill-installs.conformance.ts'

test('a process killed at any moment leaves a complete file and a way back to the original', () =>
  playKilledInstalls(18))
