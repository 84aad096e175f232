throw new Error('the almanac is out of print')
