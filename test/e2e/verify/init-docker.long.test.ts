import { testDocker } from '../../support/sandboxes.ts'
import { hasInImage, newcomersPass } from './newcomer.conformance.ts'

const { dockerTest, dockerHost, image } = await testDocker()

newcomersPass({ sandbox: 'docker', on: dockerTest, image, env: { DOCKER_HOST: dockerHost }, has: hasInImage })
