import { test } from 'vitest'
import { dockerLeftovers } from '../../test/support/docker-leftovers.ts'
import { testDocker } from '../../test/support/sandboxes.ts'
import { dockerEngine } from './docker/engine.ts'
import { conformance } from './engine.conformance.ts'

const { dockerTest, dockerHost, image } = await testDocker()

if (dockerTest === test)
  conformance('docker', () => dockerEngine, {
    image,
    env: { PATH: process.env.PATH ?? '', DOCKER_HOST: dockerHost },
    from: { module: new URL('./docker/engine.ts', import.meta.url).href, name: 'dockerEngine' },
    leftovers: dockerLeftovers,
  })
else dockerTest('the sandbox engine docker', () => {})
