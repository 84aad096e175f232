import { describe } from 'vitest'
import { testDocker } from '../../support/sandboxes.ts'
import { playChanges } from './change-story.ts'

const { image, env } = await testDocker()
const { DOCKER_HOST = '' } = env

describe('on Docker', () => {
  playChanges('cheats', ['--sandbox', 'docker'], { env: { DOCKER_HOST }, image })
  playChanges('honest', ['--sandbox', 'docker'], { env: { DOCKER_HOST }, image })
})

describe('on bubblewrap', () => {
  playChanges('cheats', ['--sandbox', 'bubblewrap'], { part: 'others' })
  playChanges('honest', ['--sandbox', 'bubblewrap'], { part: 'others' })
})
