#ifndef DORY_HYPERFLASH_DECLARATIONS_H
#define DORY_HYPERFLASH_DECLARATIONS_H

struct pi_hyperflash_conf {
    int hyper_itf, hyper_cs;
};
void pi_hyperflash_conf_init(struct pi_hyperflash_conf *conf);

#endif
