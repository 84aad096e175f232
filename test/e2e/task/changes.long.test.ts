import { describe } from 'vitest'
import { testDocker } from '../../support/sandboxes.ts'
import { playChanges } from './change-story.ts'

const { image, env } = await testDocker()
const { DOCKER_HOST = '' } = env

describe('on Docker', () => {
  playChanges('cheats', ['--sandbox', 'docker'], { env: { DOCKER_HOST }, image })
  // What counts as honest does not depend on the engine, so bubblewrap plays all of them.
  playChanges('honest', ['--sandbox', 'docker'], { env: { DOCKER_HOST }, image, part: 'some' })
})

describe('on bubblewrap', () => {
  playChanges('cheats', ['--sandbox', 'bubblewrap'], { part: 'others' })
  playChanges('honest', ['--sandbox', 'bubblewrap'], { part: 'others' })
})
