import { test } from 'vitest'
import { testDocker } from '../../test/support/sandboxes.ts'
import { dockerEngine } from './docker/engine.ts'
import { escapeCorpus } from './escape.conformance.ts'

const { dockerTest, dockerHost, image } = await testDocker()

if (dockerTest === test)
  for (const isForOneStep of [false, true])
    escapeCorpus(isForOneStep ? 'docker as its first process' : 'docker', dockerEngine, {
      image,
      env: { PATH: process.env.PATH ?? '', DOCKER_HOST: dockerHost },
      isForOneStep,
    })
else dockerTest('nothing escapes from docker', () => {})
