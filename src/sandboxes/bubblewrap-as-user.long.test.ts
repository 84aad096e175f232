import { becomePlainUser } from '../../test/support/become-plain-user.ts'
import { bubblewrapLeftovers } from '../../test/support/bubblewrap-leftovers.ts'
import { bubblewrapEngine } from './bubblewrap/engine.ts'
import { conformance } from './engine.conformance.ts'

if (becomePlainUser())
  conformance('bubblewrap, started by a plain user', () => bubblewrapEngine, {
    image: 'debian:12',
    env: { PATH: process.env.PATH ?? '' },
    from: { module: new URL('./bubblewrap/engine.ts', import.meta.url).href, name: 'bubblewrapEngine' },
    leftovers: bubblewrapLeftovers,
  })
