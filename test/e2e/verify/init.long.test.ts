import { needs } from '../../support/needs.ts'
import { newcomerRepositories } from '../../support/newcomer-repositories.ts'
import { testDocker } from '../../support/sandboxes.ts'
import { hasOnMachine, newcomersPass } from './newcomer.conformance.ts'

const { dockerTest, dockerHost, image } = await testDocker({ toolchains: true })
const docker = { sandbox: 'docker', on: dockerTest, image, env: { DOCKER_HOST: dockerHost } } as const
const bwrap = needs('bubblewrap', hasOnMachine('bwrap'))

newcomersPass({ ...docker, has: () => true })
// Now this machine has the toolchains too.
newcomersPass(
  { sandbox: 'bubblewrap', on: bwrap, has: hasOnMachine },
  (name) => newcomerRepositories[name]?.needs !== undefined,
)
