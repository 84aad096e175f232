import { becomePlainUser } from '../../test/support/become-plain-user.ts'
import { bubblewrapEngine } from './bubblewrap/engine.ts'
import { escapeCorpus } from './escape.conformance.ts'

if (becomePlainUser())
  escapeCorpus('bubblewrap, started by a plain user', bubblewrapEngine, {
    image: 'debian:12',
    env: { PATH: process.env.PATH ?? '' },
  })
