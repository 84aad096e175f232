import { bubblewrapLeftovers } from '../../test/support/bubblewrap-leftovers.ts'
import { bubblewrapEngine } from './bubblewrap/engine.ts'
import { conformance } from './engine.conformance.ts'

conformance('bubblewrap, started by the user of the tests', () => bubblewrapEngine, {
  image: 'debian:12',
  env: { PATH: process.env.PATH ?? '' },
  from: { module: new URL('./bubblewrap/engine.ts', import.meta.url).href, name: 'bubblewrapEngine' },
  leftovers: bubblewrapLeftovers,
})
